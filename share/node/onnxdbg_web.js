// SPDX-License-Identifier: MIT
// ONNX Runtime Web as a target of onnxdbg, in WebAssembly: the kind `web`.
'use strict';
const { options, load_package, serve } = require('./onnxdbg_serve.js');

const { package: folder, threads = '1', opt = 'all' } = options();
const { module: ort, version } = load_package(folder);
const UNSUPPORTED = /ERROR_CODE: 9|not a registered function|implementation for|not supported|unsupported/i;
let session = null;

ort.env.wasm.numThreads = Number(threads);
ort.env.logLevel = 'error';

serve({
    capabilities: { version: `ONNX Runtime Web ${version}, WebAssembly in Node.js ${process.version}` },

    async load(bytes) {
        await session?.release();
        session = null;
        session = await ort.InferenceSession.create(bytes, {
            executionProviders: ['wasm'], graphOptimizationLevel: opt,
        });
    },

    async run(inputs, names) {
        const feeds = {};
        for (const [name, { type, data, dims }] of Object.entries(inputs))
            feeds[name] = new ort.Tensor(type, data, dims);
        return session.run(feeds, names);
    },

    why(text) {
        const node = /node with name '([^']+)'|running (?:\S+) node. Name:'([^']+)'|Node \(([^)]+)\)/
            .exec(text)?.slice(1).find((name) => name);
        return { node: node ?? null, ...(UNSUPPORTED.test(text) ? { kind: 'unsupported' } : {}) };
    },
});
