import path from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take long, the longest first; `npm test` says at its end which do. */
const longest = [
  'test/conformance/workers.test.ts',
  'test/conformance/modules.test.ts',
  'test/package.test.ts',
  'bin/cli/plugin/installed.test.ts',
  'test/conformance/guards.test.ts',
  'test/conformance/wires.test.ts',
  'bin/cli/plugin/killed.test.ts',
  'test/threads.test.ts',
  'plugins/alerts/threads.test.ts',
  'plugins/observe/store.test.ts',
  'storage/shared.test.ts',
  'test/misbehaving.test.ts',
  'storage/level.test.ts',
  'isolation/store.test.ts',
  'test/toggles.test.ts',
  'bin/cli/cli.test.ts',
  'test/reload-load.test.ts',
  'bin/cli/plugin/dev/dev.test.ts',
  'modules/trustenforce/index.test.ts',
  'test/conformance/fidelity.test.ts',
  'isolation/isolation.test.ts',
  'modules/toolshield/index.test.ts',
  'test/mutate/mutate.test.ts',
  'plugins/trust/ledger/crash.test.ts',
  'plugins/webhooks/types.test.ts',
  'modules/approvalgate/index.test.ts',
  'plugins/forge/batches/killed.test.ts',
  'plugins/forge/runs/killed.test.ts',
  'modules/leakguard/index.test.ts',
  'plugins/config/crash.test.ts',
  'plugins/redteam/vulnerabilities/vulnerabilities.test.ts',
  'test/conformance/streams.test.ts',
  'modules/hallucicheck/given.test.ts',
  'plugins/redteam/hunts/killed.test.ts',
  'modules/usagepulse/index.test.ts',
  'test/odd-figures.test.ts',
  'plugins/forge/batches/laws.test.ts',
  'modules/costcap/index.test.ts',
  'kernel/permissions/permissions.test.ts',
  'modules/chatmem/threads.test.ts',
  'plugins/config/whole.test.ts',
  'plugins/trust/replays/restart.test.ts',
  'plugins/autopilot/killed.test.ts',
  'modules/glyphguard/index.test.ts',
  'gateway/stray-errors.test.ts',
  'gateway/secrets/open-secrets.test.ts',
  'plugins/proxy/wires/responses/guards.test.ts',
  'test/crash.test.ts',
  'plugins/webhooks/crash.test.ts',
  'test/built.test.ts',
  'plugins/counting/threads.test.ts',
  'modules/tenantwall/isolation.test.ts',
  'test/conformance/handover.test.ts',
  'plugins/alerts/index.test.ts',
  'gateway/discovery/folder-reloader.test.ts',
  'kernel/chain/module-circuit.test.ts',
  'plugins/safety/crash.test.ts',
  'test/hostile.test.ts',
  'bin/cli/plugin/check.test.ts',
  'test/documented.test.ts',
  'plugins/trust/ledger/listing.test.ts',
  'test/deployment.test.ts',
  'modules/batchqueue/killed.test.ts',
  'modules/billsync/crash.test.ts',
  'plugins/jobs/crash.test.ts',
  'plugins/models/tokens/files/files.test.ts',
  'modules/fallbackrouter/index.test.ts',
  'modules/canarydeploy/threads.test.ts',
  'storage/level/crash.test.ts',
  'modules/compliancelog/index.test.ts',
  'modules/costcap/proof.test.ts',
  'plugins/extensions/folder-watch.test.ts',
  'test/outbox.test.ts',
  'modules/driftwatch/index.test.ts',
  'modules/tokentrim/threads.test.ts',
  'kit/detection/personal-entities.test.ts',
  'test/conformance/answers.test.ts',
  'modules/agentguard/threads.test.ts',
  'isolation/around-lost.test.ts',
  'modules/llmtap/index.test.ts',
  'plugins/models/tokens/estimate.test.ts',
  'modules/keypool/index.test.ts',
  'modules/trainexport/sealed.test.ts',
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
