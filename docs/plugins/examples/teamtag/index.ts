import { badRequest, defineModule } from 'switchyard'
import { z } from 'zod'

export default defineModule({
  settings: z.strictObject({
    teams: z.array(z.string()).min(1).default(['research', 'support']).meta({
      title: 'Teams',
      description: 'The values that the tag may have.',
    }),
  }),

  setup({ id, settings: { teams } }) {
    return {
      request(call) {
        const { team } = call.context.tags
        if (team === undefined || !teams.includes(team)) {
          throw badRequest(`Send X-Service-Tags: team=<name>; the names are ${teams.join(', ')}.`, {
            param: 'X-Service-Tags',
          })
        }
        call.trace.note(id, 'tagged')
        call.trace.header('X-Team', team)
        return undefined
      },
    }
  },
})
