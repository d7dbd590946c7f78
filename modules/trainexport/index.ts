import { defineModule } from '#kernel'
import { addRoutes } from './routes.ts'
import { Sets } from './sets.ts'
import { refusalOf, settings } from './settings.ts'

export default defineModule({
  settings,

  setup(context) {
    const { id, settings, personal } = context
    const sets = new Sets(context)
    personal({ count: (whose) => sets.countOf(whose), erase: (whose) => sets.eraseOf(whose) })
    addRoutes(context, sets)

    if (settings.users.length === 0 && settings.projects.length === 0) return {}
    return {
      pure: true,
      request({ principal: { userId }, context: { project, tags }, trace }) {
        const refusal = refusalOf(settings, { user_id: userId, project, tags })
        if (refusal !== 'not_allowed') trace.note(id, refusal ?? 'may_train')
        return undefined
      },
    }
  },
})
