// SPDX-License-Identifier: MIT
// ONNX.js as a target of onnxdbg: the kind `onnxjs`.
'use strict';
const { Refusal, options, load_package, serve } = require('./onnxdbg_serve.js');

delete globalThis.fetch; // where there is one it takes itself for a page, and paths for addresses
const { package: folder, backend = 'cpu' } = options();
const { module: onnx, version } = load_package(folder);
const TYPES = ['float32', 'float64', 'bool', 'int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32',
    'string'];
const UNSUPPORTED = /cannot resolve operator|not supported|unsupported|unrecognized|not implemented/i;
let session = null;

serve({
    capabilities: { version: `ONNX.js ${version}, ${backend}, in Node.js ${process.version}` },

    async load(bytes) {
        session = null;
        const next = new onnx.InferenceSession({ backendHint: backend });
        await next.loadModel(new Uint8Array(bytes).buffer);
        session = next;
    },

    async run(inputs, names) {
        const feeds = new Map();
        for (const [name, { type, data, dims }] of Object.entries(inputs)) {
            if (!TYPES.includes(type))
                throw new Refusal('unsupported', `ONNX.js has no tensors of ${type}`);
            feeds.set(name, new onnx.Tensor(data, type, dims));
        }
        const made = await session.run(feeds);
        return Object.fromEntries(names.map((name) => [name, made.get(name)]));
    },

    why(text) {
        return UNSUPPORTED.test(text) ? { kind: 'unsupported' } : {};
    },
});
