// node verify.js BUNDLE [--encoder]: goes through a bundle's vectors.
// With --encoder only observations and masks are compared, which needs no onnxruntime-web.
import process from "node:process";
import { BundleError, QuestionError } from "./errors.js";
import { fromFolder, loadRuntime } from "./folder.js";
import { Encoder } from "./observation.js";
import { loadPlayer, readSpec } from "./player.js";
import { difference, readCases } from "./vectors.js";

/** @param {string} folder @param {boolean} encoderOnly */
async function verify(folder, encoderOnly) {
  const read = fromFolder(folder);
  const player = encoderOnly ? null : await loadPlayer(await loadRuntime(), read);
  const encoder = player?.encoder ?? new Encoder(await readSpec(read));
  const cases = await readCases(read);
  for (const [number, wanted] of cases.entries()) {
    const found = await difference(wanted, encoder, player);
    if (found !== null) throw new BundleError(`vectors.jsonl, line ${number + 1}: ${found}`);
  }
  return cases.length;
}

const options = process.argv.slice(2).filter((word) => word.startsWith("--"));
const folders = process.argv.slice(2).filter((word) => !word.startsWith("--"));
if (folders.length !== 1 || options.some((option) => option !== "--encoder")) {
  console.error("usage: node verify.js BUNDLE [--encoder]");
  process.exit(2);
}
try {
  const number = await verify(folders[0], options.length > 0);
  console.log(`${number} of ${number} vectors`);
} catch (error) {
  if (!(error instanceof BundleError || error instanceof QuestionError)) throw error;
  console.error(`${folders[0]}: ${error.message}`);
  process.exitCode = 1;
}
