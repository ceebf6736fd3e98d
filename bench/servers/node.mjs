// node-llama-cpp's own loop: a request a line, a measurement a line.
import {createInterface} from "node:readline";
import {getLlama} from "node-llama-cpp";

const [path, threads, context] = process.argv.slice(2);
const llama = await getLlama({gpu: false, build: "never", maxThreads: Number(threads), logLevel: "error"});
const model = await llama.loadModel({modelPath: path});
const ctx = await model.createContext({
    contextSize: Number(context), sequences: 1, batchSize: 512,
    threads: {ideal: Number(threads), min: Number(threads)},
});
const sequence = ctx.getSequence();
console.log("ready");
for await (const line of createInterface({input: process.stdin})) {
    const {prompt, generate} = JSON.parse(line);
    const tokens = model.tokenize(prompt);
    await sequence.clearHistory();
    let n = 0, first = 0, last = 0;
    const begun = performance.now();
    for await (const _ of sequence.evaluate(tokens, {temperature: 0, yieldEogToken: true})) {
        last = performance.now() - begun;
        if (n++ === 0) first = last;
        if (n >= generate) break;
    }
    console.log(JSON.stringify({Prompt: tokens.length, Generated: n, First: first, Last: last}));
}
process.exit(0);
