import path from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take long, the longest first; `npm test` says at its end which do. */
const longest = [
  'test/conformance/workers.test.ts',
  'test/package.test.ts',
  'bin/cli/plugin/installed.test.ts',
  'test/conformance/modules.test.ts',
  'test/threads.test.ts',
  'plugins/alerts/threads.test.ts',
  'bin/cli/plugin/killed.test.ts',
  'storage/shared.test.ts',
  'test/reload-load.test.ts',
  'bin/cli/cli.test.ts',
  'test/conformance/guards.test.ts',
  'kernel/isolation/isolation.test.ts',
  'test/conformance/wires.test.ts',
  'bin/cli/plugin/dev/dev.test.ts',
  'storage/level.test.ts',
  'test/conformance/fidelity.test.ts',
  'test/misbehaving.test.ts',
  'test/mutate/mutate.test.ts',
  'kernel/isolation/store.test.ts',
  'plugins/observe/store.test.ts',
  'plugins/trust/ledger/crash.test.ts',
  'plugins/counting/threads.test.ts',
  'test/toggles.test.ts',
  'test/conformance/handover.test.ts',
  'bin/cli/plugin/check.test.ts',
  'plugins/safety/crash.test.ts',
  'test/crash.test.ts',
  'modules/trustenforce/index.test.ts',
  'modules/canarydeploy/threads.test.ts',
  'modules/billsync/crash.test.ts',
  'modules/agentguard/threads.test.ts',
  'modules/costcap/proof.test.ts',
  'plugins/jobs/crash.test.ts',
  'test/documented.test.ts',
  'plugins/webhooks/types.test.ts',
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
