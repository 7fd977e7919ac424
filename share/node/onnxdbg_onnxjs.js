// SPDX-License-Identifier: MIT
// ONNX.js as a target of onnxdbg: the kind `onnxjs`.
'use strict';
const { Refusal, options, load_package, serve } = require('./onnxdbg_serve.js');

delete globalThis.fetch; // where there is one it takes itself for a page, and paths for addresses
const { package: folder, backend = 'cpu' } = options();
const { module: onnx, version } = load_package(folder);
const TYPES = ['float32', 'float64', 'bool', 'int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32',
    'string'];
const NARROW = { int64: ['int32', Int32Array], uint64: ['uint32', Uint32Array] };
const UNSUPPORTED = /cannot resolve operator|not supported|unsupported|unrecognized|not implemented/i;
let session = null;

/** A value as a tensor of ONNX.js, which holds what ONNX has as 64 bits in 32. */
function tensor(name, { type, data, dims }) {
    const [narrow, array] = NARROW[type] ?? [type, null];
    if (!TYPES.includes(narrow))
        throw new Refusal('unsupported', `ONNX.js has no tensors of ${type}`);
    if (!array)
        return new onnx.Tensor(data, type, dims);
    const held = array.from(data, Number);
    const lost = data.findIndex((number, i) => BigInt(held[i]) !== number);
    if (lost >= 0)
        throw new Refusal('unsupported',
            `${data[lost]} in ${name}: ONNX.js has no ${type}, and ${narrow} does not hold it`);
    return new onnx.Tensor(held, narrow, dims);
}

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
        for (const [name, value] of Object.entries(inputs))
            feeds.set(name, tensor(name, value));
        const made = await session.run(feeds);
        return Object.fromEntries(names.map((name) => [name, made.get(name)]));
    },

    why(text) {
        return UNSUPPORTED.test(text) ? { kind: 'unsupported' } : {};
    },
});
