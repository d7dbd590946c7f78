import path from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take long, the longest first; `npm test` says at its end which do. */
const longest = [
  'test/conformance/workers.test.ts',
  'bin/cli/plugin/installed.test.ts',
  'test/package.test.ts',
  'test/conformance/modules.test.ts',
  'test/conformance/guards.test.ts',
  'test/conformance/wires.test.ts',
  'bin/cli/plugin/killed.test.ts',
  'plugins/alerts/threads.test.ts',
  'test/toggles.test.ts',
  'test/reload-load.test.ts',
  'kernel/isolation/isolation.test.ts',
  'test/crash.test.ts',
  'test/threads.test.ts',
  'plugins/trust/ledger/crash.test.ts',
  'bin/cli/plugin/dev/dev.test.ts',
  'kernel/isolation/store.test.ts',
  'storage/shared.test.ts',
  'storage/level.test.ts',
]

/**
 * Begins with the longest files, so that none is left to run alone at the end. After a first run the runner knows how
 * long each took; until then, as after a clean install, the list does.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = longest.indexOf(path.relative('', moduleId))
      return place < 0 ? longest.length : place
    }
    return sorted.toSorted((a, b) => rank(a) - rank(b))
  }
}
