// SPDX-License-Identifier: MIT
// What programs in JavaScript that run models for onnxdbg share: the conversation in lines of JSON
// (onnxdbg-server(7)), .npy files, and models whose weights stand in other files.
'use strict';
const fs = require('fs');
const path = require('path');
const readline = require('readline');
const { createRequire } = require('module');

// Libraries print with it, and standard output is for answers.
console.log = console.info = console.debug = console.error;

/** An error that says what kind of refusal it is: "unsupported", "rejected" or "failed". */
class Refusal extends Error {
    constructor(kind, text, node = null) {
        super(text);
        Object.assign(this, { kind, node });
    }
}

/** The options of the command line, KEY=VALUE, as an object. */
function options() {
    return Object.fromEntries(process.argv.slice(2).map((word) => {
        const at = word.indexOf('=');
        return at < 0 ? [word, ''] : [word.slice(0, at), word.slice(at + 1)];
    }));
}

/** A package by the folder that it is in. */
function load_package(folder) {
    const from = createRequire(path.join(folder, 'package.json'));
    const about = from('./package.json');
    const inside = path.basename(path.resolve(folder, about.name.includes('/') ? '../..' : '..'));
    const module = inside === 'node_modules' ? from(about.name) : from(folder);
    return { module, version: about.version };
}

// --- .npy ----------------------------------------------------------------------------------------

// NumPy's name of an element type, ONNX's, and the array that holds it. Halves are bits.
const TYPES = [
    ['<f4', 'float32', Float32Array], ['|u1', 'uint8', Uint8Array], ['|i1', 'int8', Int8Array],
    ['<u2', 'uint16', Uint16Array], ['<i2', 'int16', Int16Array], ['<i4', 'int32', Int32Array],
    ['<i8', 'int64', BigInt64Array], ['|b1', 'bool', Uint8Array], ['<f8', 'float64', Float64Array],
    ['<f2', 'float16', globalThis.Float16Array || Uint16Array], ['<u4', 'uint32', Uint32Array],
    ['<u8', 'uint64', BigUint64Array],
];

function read_strings(bytes, count, width) {
    const units = new Uint32Array(bytes.buffer, 0, count * width);
    return Array.from({ length: count }, (_, i) => {
        const points = units.subarray(i * width, (i + 1) * width);
        return String.fromCodePoint(...points).replace(/\0+$/, '');
    });
}

/** {type, dims, data} of a file: what was written by onnxdbg, no more. */
function read_npy(file) {
    if (!file.endsWith('.npy'))
        throw new Refusal('unsupported', 'a value of a type that .npy files cannot hold');
    const all = fs.readFileSync(file);
    const wide = all[6] > 1;
    const start = (wide ? 12 : 10) + (wide ? all.readUInt32LE(8) : all.readUInt16LE(8));
    const header = all.toString('latin1', 10, start);
    const descr = /'descr': '([^']+)'/.exec(header)[1];
    const dims = /'shape': \(([^)]*)\)/.exec(header)[1].split(',').filter((d) => d.trim()).map(Number);
    const bytes = new Uint8Array(all.subarray(start)); // a copy, which begins where any type may
    const count = dims.reduce((n, d) => n * d, 1);
    if (/^<U/.test(descr))
        return { type: 'string', dims, data: read_strings(bytes, count, Number(descr.slice(2))) };
    const known = TYPES.find(([name]) => name === descr);
    if (!known)
        throw new Refusal('unsupported', `elements of type ${descr}`);
    return { type: known[1], dims, data: new known[2](bytes.buffer, 0, count) };
}

function strings_bytes(strings) {
    const points = strings.map((text) => Array.from(text, (c) => c.codePointAt(0)));
    const width = Math.max(1, ...points.map((p) => p.length));
    const units = new Uint32Array(points.length * width);
    points.forEach((p, i) => units.set(p, i * width));
    return [`<U${width}`, Buffer.from(units.buffer)];
}

/** Writes {type, dims, data}. */
function write_npy(file, { type, dims, data }) {
    const known = TYPES.find(([, name]) => name === type);
    if (!known && type !== 'string')
        throw new Refusal('unsupported', `an output of type ${type}`);
    const [descr, bytes] = known
        ? [known[0], Buffer.from(data.buffer, data.byteOffset, data.byteLength)]
        : strings_bytes(data);
    const shape = dims.length === 1 ? `${dims[0]},` : dims.join(', ');
    const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${shape}), }`;
    const pad = 63 - (10 + text.length) % 64;
    const head = Buffer.alloc(10 + text.length + pad + 1, ' ');
    head.write('\x93NUMPY\x01\x00', 'latin1');
    head.writeUInt16LE(head.length - 10, 8);
    head.write(text, 10, 'latin1');
    head[head.length - 1] = 10;
    fs.writeFileSync(file, Buffer.concat([head, bytes]));
}

// --- models --------------------------------------------------------------------------------------

// Fields of ModelProto, GraphProto and TensorProto that matter here.
const GRAPH = 7, INITIALIZER = 5, RAW_DATA = 9, EXTERNAL_DATA = 13, DATA_LOCATION = 14;

function varint(number) {
    const bytes = [];
    for (let n = number; bytes.push(n % 128 + (n >= 128 ? 128 : 0)), n >= 128;)
        n = Math.floor(n / 128);
    return Buffer.from(bytes);
}

/** The fields of a message: [number, all its bytes, the bytes inside it]. */
function* fields(message) {
    let at = 0;
    const number = () => {
        let value = 0, unit = 1;
        for (let byte = 128; byte >= 128; unit *= 128) {
            byte = message[at++];
            value += (byte & 127) * unit;
        }
        return value;
    };
    while (at < message.length) {
        const start = at, key = number();
        const wire = key & 7;
        const size = wire === 2 ? number() : wire === 5 ? 4 : wire === 1 ? 8 : number() * 0;
        const inside = message.subarray(at, at += size);
        yield [Math.floor(key / 8), message.subarray(start, at), inside];
    }
}

function field(number, inside) {
    return [varint(number * 8 + 2), varint(inside.length), inside];
}

/** The same message with what `change` makes of the fields of one number. */
function with_fields(message, number, change) {
    const parts = [];
    for (const [n, all, inside] of fields(message))
        parts.push(...(n === number ? field(n, change(inside)) : [all]));
    return Buffer.concat(parts);
}

function weights_inside(tensor, folder) {
    const where = {}, parts = [];
    for (const [n, all, inside] of fields(tensor)) {
        if (n === EXTERNAL_DATA) {
            const [key, value] = [...fields(inside)].map((entry) => entry[2].toString());
            where[key] = value;
        } else if (n !== DATA_LOCATION) {
            parts.push(all);
        }
    }
    if (where.location === undefined)
        return tensor;
    const file = fs.openSync(path.join(folder, where.location));
    const begin = Number(where.offset || 0);
    const data = Buffer.alloc(Number(where.length ?? fs.fstatSync(file).size - begin));
    const got = fs.readSync(file, data, 0, data.length, begin);
    fs.closeSync(file);
    if (got !== data.length)
        throw new Refusal('rejected', `${where.location} is too short`);
    return Buffer.concat([...parts, ...field(RAW_DATA, data)]);
}

/** The bytes of a model with all its weights inside. */
function read_model(file) {
    return with_fields(fs.readFileSync(file), GRAPH, (graph) => with_fields(graph, INITIALIZER,
        (tensor) => weights_inside(tensor, path.dirname(file))));
}

// --- the conversation ----------------------------------------------------------------------------

async function run(runtime, request) {
    const inputs = {};
    for (const { name, file } of request.inputs)
        inputs[name] = read_npy(file);
    const outputs = await runtime.run(inputs, request.outputs.map((output) => output.name));
    for (const { name, file } of request.outputs) {
        if (!outputs[name])
            throw new Refusal('failed', `there is no output '${name}'`);
        write_npy(file.replace(/\.pb$/, '.npy'), outputs[name]);
    }
    return { outputs: request.outputs.map(({ name, file }) => ({
        name, file: file.replace(/\.pb$/, '.npy'), shape: outputs[name].dims })) };
}

const DOES = {
    load: async (runtime, request) => { await runtime.load(read_model(request.model)); },
    run,
    capabilities: async (runtime) => runtime.capabilities,
    end: async () => {},
};

/** What has failed, as an answer. A trap in WebAssembly is a crash: nothing there can be trusted. */
function refusal(error, request) {
    if (error instanceof WebAssembly.RuntimeError) {
        console.error(error.stack);
        process.exit(134);
    }
    const kind = error.kind || (request.do === 'load' ? 'rejected' : 'failed');
    const text = typeof error === 'number'
        ? 'an exception of C++, of which WebAssembly gives a number and no text'
        : String(error?.message ?? error);
    return { ok: false, kind, error: text, node: error.node ?? null };
}

/** Answers until the end of standard input. runtime: capabilities; load(bytes) and
 * run(inputs, names), which may be async; why(text): what else a refusal says, {kind, node}. */
async function serve(runtime) {
    for await (const line of readline.createInterface({ input: process.stdin })) {
        const request = JSON.parse(line);
        let answer;
        try {
            answer = { ok: true, ...await DOES[request.do](runtime, request) };
        } catch (error) {
            answer = refusal(error, request);
            Object.assign(answer, error instanceof Refusal ? {} : runtime.why(answer.error));
        }
        process.stdout.write(JSON.stringify(answer) + '\n');
    }
    process.exit(0);
}

module.exports = { Refusal, options, load_package, serve };
