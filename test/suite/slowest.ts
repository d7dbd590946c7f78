import path from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

/** How many files are named; runs of fewer name none. */
const shown = 20

/** Ends a run with its slowest files: the seconds that their tests took, and those that their imports took. */
export class Slowest implements Reporter {
  onTestRunEnd(files: readonly TestModule[]): void {
    if (files.length <= shown) return
    const timed = files.map((file) => ({ name: path.relative('', file.moduleId), ...secondsOf(file) }))
    const total = sum(timed.map(({ tests, imports }) => tests + imports))
    const slowest = timed.toSorted((a, b) => b.tests + b.imports - a.tests - a.imports).slice(0, shown)
    const lines = slowest.map(({ name, tests, imports }) => `${column(tests)} ${column(imports)}  ${name}`)
    const heading = `The slowest ${shown} of ${files.length} files, of ${total.toFixed(0)} s in all:`
    process.stdout.write(`\n${heading}\n   tests imports\n${lines.join('\n')}\n\n`)
  }
}

const secondsOf = (file: TestModule): { tests: number; imports: number } => {
  const { duration, collectDuration, setupDuration } = file.diagnostic()
  return { tests: duration / 1000, imports: (collectDuration + setupDuration) / 1000 }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

const column = (seconds: number): string => seconds.toFixed(1).padStart(8)
