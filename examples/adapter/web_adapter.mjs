// SPDX-License-Identifier: MIT
// ONNX Runtime Web as a target, on WebGPU or in WebAssembly, in Node.js: onnxdbg-adapter(7).
//
//     npm install onnxruntime-web webgpu
//     onnxdbg bisect model.onnx --target 'server:node web_adapter.mjs,arg.ep=webgpu'
import { createRequire } from 'module';
import v8 from 'v8';

const require = createRequire(process.cwd() + '/'); // packages are where onnxdbg was started
const { serve } = createRequire(import.meta.url)('../../share/node/onnxdbg_serve.js');
const given = Object.fromEntries(process.argv.slice(2).map((word) => word.slice(2).split('=')));
const { ep = 'wasm', fallback = 'on' } = given; // --ep=webgpu --fallback=off
let dispatches = 0;

v8.setFlagsFromString('--liftoff-only'); // V8's other compiler takes a minute for it
if (ep === 'webgpu') { // Node.js has no GPU of its own: Dawn, which browsers use, lends one
    const { create, globals } = await import(require.resolve('webgpu'));
    Object.assign(globalThis, globals);
    Object.defineProperty(globalThis, 'navigator', { value: { gpu: create([]) } });
    const { writeBuffer } = GPUQueue.prototype;
    GPUQueue.prototype.writeBuffer = function (buffer, at, data, from = 0, size = undefined) {
        const view = ArrayBuffer.isView(data) ? data : new Uint8Array(data);
        const part = view.subarray(from, size === undefined ? view.length : from + size);
        writeBuffer.call(this, buffer, at, Uint8Array.from(part)); // Dawn takes no shared memory
    };
    const { dispatchWorkgroups } = GPUComputePassEncoder.prototype;
    GPUComputePassEncoder.prototype.dispatchWorkgroups = function (...groups) {
        dispatches += 1;
        dispatchWorkgroups.apply(this, groups);
    };
}
const ort = await import(require.resolve('onnxruntime-web').replace('node.min.js', 'webgpu.mjs'));
ort.env.wasm.numThreads = 1;
ort.env.logLevel = 'error';
let session = null;

serve({
    capabilities: { version: `ONNX Runtime Web ${ort.env.versions.web}, ${ep}` },
    async load(bytes) {
        await session?.release();
        session = null;
        session = await ort.InferenceSession.create(bytes, {
            executionProviders: [ep],
            extra: { session: { disable_cpu_ep_fallback: fallback === 'off' ? '1' : '0' } },
        });
    },
    async run(inputs, names) {
        const feeds = {};
        for (const [name, { type, data, dims }] of Object.entries(inputs))
            feeds[name] = new ort.Tensor(type, data, dims);
        const outputs = await session.run(feeds, names);
        console.error(`${dispatches} dispatches so far`);
        return outputs;
    },
    why(text) { // which of its own words say that it lacks something
        return /registered|import|implementation for|not supported|unsupported|fallback/i.test(text)
            ? { kind: 'unsupported' } : {};
    },
});
