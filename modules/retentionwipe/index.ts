import { z } from 'zod'
import { defineModule, Jobs, Retention, RetentionDue } from '#kernel'
import { ageSettings, agesOf } from './ages.ts'
import { Erasures } from './erasures.ts'
import { addRoutes } from './routes.ts'

/** Off the full hour, when other jobs begin. */
const schedules = { hourly: '17 * * * *', daily: '17 3 * * *' }

export default defineModule({
  settings: z.strictObject({
    ...ageSettings,
    sweep: z.enum(['hourly', 'daily']).default('hourly').meta({
      title: 'Sweep',
      description: 'How often records that are past their age are deleted.',
    }),
  }),

  setup(context) {
    const { id, settings, provide, event, emit, use } = context
    provide(Retention, { ages: agesOf(settings) })
    event(RetentionDue)
    use(Jobs).cron(context, 'sweep', schedules[settings.sweep], () => emit(RetentionDue, {}))
    addRoutes(context, new Erasures(context))

    const { projects } = settings
    if (Object.keys(projects).length === 0) return {}
    return {
      pure: true,
      request({ context: { project }, trace }) {
        if (Object.hasOwn(projects, project)) trace.note(id, 'kept', projects[project])
        return undefined
      },
    }
  },
})
