#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// Any command line that runs a model, as a program that stays: onnxdbg-server(7).
//
//     onnxdbg bisect model.onnx --target 'server:node server.js onnxdbg ort'
const { spawnSync } = require('child_process');
const fs = require('fs');
const path = require('path');
const readline = require('readline');

const [runtime, target] = process.argv.slice(2);
let model;

const does = {
    load(request) { // a runtime would compile it here
        model = request.model;
        return { ok: true };
    },
    run(request) {
        const saved = path.join(path.dirname(model), 'saved');
        const words = ['run', model, '--target', target, '--save', saved];
        for (const { name, file } of request.inputs)
            words.push('--input', `${name}=${file}`);
        const done = spawnSync(runtime, words, { encoding: 'utf8' });
        if (done.status !== 0)
            return { ok: false, kind: 'failed', error: String(done.stderr || done.error) };
        for (const { name, file } of request.outputs)
            fs.renameSync(path.join(saved, name.replaceAll('/', '_') + '.npy'), file);
        return { ok: true };
    },
};

readline.createInterface({ input: process.stdin }).on('line', (line) => {
    const request = JSON.parse(line);
    const answer = Object.hasOwn(does, request.do) ? does[request.do](request) : { ok: false };
    console.log(JSON.stringify(answer));
});
