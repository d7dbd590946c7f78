import { recallAndFalseRate, sources } from './corpus.ts'

/** Prints what `promptguard` finds in each source of its corpus. Run it with `node bench/guards/run.ts`. */
for (const source of sources) {
  const { attacks, benign, recall, falseRate } = recallAndFalseRate(source)
  const shares = `recall ${recall.toFixed(3)} of ${attacks}, false positives ${falseRate.toFixed(3)} of ${benign}`
  process.stdout.write(`${source.name.padEnd(10)} ${shares}\n`)
}
