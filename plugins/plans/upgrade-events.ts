import { z } from 'zod'
import { defineEvent, type EventType } from '#kernel'

const upgrade = z.strictObject({
  title: z.string(),
  message: z.string(),
  details: z.record(z.string(), z.unknown()).meta({
    description: 'Facts: the tier that helps, the user it is about, and figures.',
  }),
})

export type UpgradeData = z.infer<typeof upgrade>

const descriptions: Readonly<Record<string, string>> = {
  quota_near: 'A user, or the installation, has used 80 % of the month’s requests.',
  quota_reached: 'A user, or the installation, has used the month’s requests.',
  pii_detected: 'Personal data was found in calls.',
  trace_milestone_1000: 'There are 1,000 traces.',
  trace_milestone_10000: 'There are 10,000 traces.',
  trace_milestone_100000: 'There are 100,000 traces.',
  trace_milestone_1000000: 'There are 1,000,000 traces.',
  autoroute_cap_reached: 'Autopilot has routed as many calls of a user as the plan has in a day.',
  redteam_bypass_detected: 'Probes of a quick scan got through, where no campaigns are to be had.',
  autoroute_savings_10: 'Autopilot has saved $10.',
  autoroute_savings_100: 'Autopilot has saved $100.',
  autoroute_savings_1000: 'Autopilot has saved $1,000.',
  autoroute_savings_10000: 'Autopilot has saved $10,000.',
  error_rate_high: 'A tenth of the calls of the last hour failed.',
}

/** The events of reasons to take a larger plan, by trigger; each is emitted once for a period. */
export const upgradeEvents: ReadonlyMap<string, EventType<UpgradeData>> = new Map(
  Object.entries(descriptions).map(([trigger, description]) => [
    trigger,
    defineEvent(`upgrade.${trigger}`, upgrade, { description }),
  ]),
)
