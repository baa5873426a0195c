// node encode.js BUNDLE: for a view of the wire message on each line of the input, what it asks, its
// observation and its mask on a line of the output. To compare encoders with; needs no network.
import process from "node:process";
import { createInterface } from "node:readline";
import { BundleError, QuestionError } from "./errors.js";
import { fromFolder } from "./folder.js";
import { Encoder } from "./observation.js";
import { readSpec } from "./player.js";
import { readQuestion } from "./question.js";

/** @param {Encoder} encoder @param {string} line */
function answer(encoder, line) {
  try {
    const { view, asks, assumed } = readQuestion(JSON.parse(line), encoder.rules);
    const { observation, mask } = encoder.encode(view);
    return { asks, assumed, observation: [...observation], action_mask: [...mask] };
  } catch (error) {
    if (!(error instanceof QuestionError)) throw error;
    return { error: { code: error.code, message: error.message } };
  }
}

try {
  const encoder = new Encoder(await readSpec(fromFolder(process.argv[2] ?? ".")));
  for await (const line of createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(answer(encoder, line)));
  }
} catch (error) {
  if (!(error instanceof BundleError)) throw error;
  console.error(`${process.argv[2]}: ${error.message}`);
  process.exitCode = 1;
}
