import path from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

/** Ends a run with the tests that failed first and passed when run again: each is a fault of the test or of the gateway. */
export class Flaky implements Reporter {
  onTestRunEnd(files: readonly TestModule[]): void {
    const flaky = files.flatMap((file) =>
      [...file.children.allTests()]
        .filter((test) => test.diagnostic()?.flaky)
        .map((test) => {
          const [first] = test.result().errors ?? []
          return `${path.relative('', file.moduleId)}: ${test.fullName}\n    ${first?.message ?? ''}`
        }),
    )
    if (flaky.length > 0) process.stdout.write(`\nPassed only when run again:\n${flaky.join('\n')}\n\n`)
  }
}
