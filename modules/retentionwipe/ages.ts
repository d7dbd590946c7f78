import { z } from 'zod'
import type { RecordClass, Retention } from '#kernel'
import { usualDays } from '#kit'

const days = z.number().min(0.01).max(36_500)

/** Each class of records with the setting that says its age. */
const settingOf = { traces: 'traces_days', bodies: 'bodies_days', events: 'events_days' } as const

const described = {
  traces_days: { title: 'Traces', description: 'Days after which a trace is deleted with its bodies.' },
  bodies_days: {
    title: 'Bodies',
    description: 'Days after which the stored request and answer of a trace are deleted.',
  },
  events_days: {
    title: 'Events',
    description:
      'Days after which records of what happened in calls are deleted, such as matches of guardrails.',
  },
}

export const ageSettings = {
  traces_days: days.default(usualDays.traces).meta(described.traces_days),
  bodies_days: days.default(usualDays.bodies).meta(described.bodies_days),
  events_days: days.default(usualDays.events).meta(described.events_days),
  projects: z
    .record(
      z.string().min(1).max(256),
      z.strictObject({
        traces_days: days.exactOptional().meta(described.traces_days),
        bodies_days: days.exactOptional().meta(described.bodies_days),
        events_days: days.exactOptional().meta(described.events_days),
      }),
    )
    .refine((projects) => Object.keys(projects).length <= 1000, 'must have at most 1000 projects')
    .default({})
    .meta({ title: 'Projects', description: 'Ages of their own, by the name of the project.' }),
}

const ages = z.strictObject(ageSettings)
type Settings = z.infer<typeof ages>

/** The ages as other plugins ask for them. */
export function agesOf(settings: Settings): Retention['ages'] {
  const ageOf = (of: RecordClass) => {
    const own = Object.entries(settings.projects).flatMap(([project, { [settingOf[of]]: days }]) =>
      days === undefined ? [] : [[project, days] as const],
    )
    return { days: settings[settingOf[of]], projects: Object.fromEntries(own) }
  }
  return { traces: ageOf('traces'), bodies: ageOf('bodies'), events: ageOf('events') }
}
