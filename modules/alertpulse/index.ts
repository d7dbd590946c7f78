import { z } from 'zod'
import { AlertPulse, defineModule, type PulseSettings } from '#kernel'
import { Configurations, compileWhen } from '#kit'

/** The rules are of all calls, so that only the module itself says how they are evaluated, and none of its bindings. */
const itself = 'alertpulse'

const names = z.array(z.string().min(1).max(200)).max(100).default([])

export default defineModule({
  settings: z.strictObject({
    check_interval_s: z.number().min(1).max(3600).default(10).meta({
      title: 'Interval',
      description: 'Seconds between two evaluations of the alert rules.',
    }),
    cooldown_s: z.int().min(0).max(2_592_000).optional().meta({
      title: 'Pause',
      description:
        'Least seconds between two firings of a group, for rules that say none. Without it, the length of their window.',
    }),
    max_groups: z.int().min(1).max(10_000).default(1000).meta({
      title: 'Groups',
      description:
        'Groups of a rule that are told apart; of more, those without calls for longest are forgotten.',
    }),
    ignore: z
      .strictObject({
        projects: names.meta({ title: 'Projects', description: 'Values of X-Project.' }),
        users: names.meta({ title: 'Users', description: 'User ids.' }),
        tags: z.record(z.string(), z.string()).default({}).meta({
          title: 'Tags',
          description: 'Tags with their values; one is enough.',
        }),
      })
      .prefault({})
      .meta({
        title: 'Ignored calls',
        description: 'Calls that count in no alert rule, such as load tests. One match is enough.',
      }),
  }),

  once({ provide }) {
    const all = new Configurations<PulseSettings>()
    provide(AlertPulse, { settings: () => all.values[0] })
    return all
  },

  setup({ id, settings, mode, own }, all) {
    const { check_interval_s: interval, cooldown_s: cooldown, max_groups: mostGroups, ignore } = settings
    if (id === itself && mode === 'enforce') {
      const cooldownMs = cooldown === undefined ? undefined : cooldown * 1000
      own(all.add(id, { everyMs: interval * 1000, cooldownMs, mostGroups }))
    }
    const conditions = [
      ...(ignore.projects.length > 0 ? [{ projects: ignore.projects }] : []),
      ...(ignore.users.length > 0 ? [{ users: ignore.users }] : []),
      ...Object.entries(ignore.tags).map(([name, value]) => ({ tags: { [name]: value } })),
    ].map((condition) => compileWhen(condition)!)
    if (conditions.length === 0) return {}
    return {
      pure: true,
      request(call) {
        if (conditions.some((unmet) => unmet(call) === undefined)) call.trace.facts.alerts = 'left out'
        return undefined
      },
    }
  },
})
