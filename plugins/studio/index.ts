import { z } from 'zod'
import { defineArea, Templates } from '#kernel'
import { personalOfUsers } from '#kit'
import { addRenderRoute } from './routes/render.ts'
import { addStatusRoute } from './routes/status.ts'
import { addTemplateRoutes } from './routes/templates.ts'
import { addVersionRoutes } from './routes/versions.ts'
import { templatesOf } from './service.ts'
import { Studio } from './studio.ts'

export default defineArea({
  settings: z.strictObject({}),

  async setup(context) {
    const studio = new Studio(context)
    const { shelf } = studio
    context.own(await shelf.load())
    context.provide(Templates, templatesOf(studio))
    context.personal(
      personalOfUsers({
        count: (user) =>
          shelf.ofUser(user).reduce((sum, { current_version }) => sum + current_version + 1, 0),
        async erase(user) {
          let erased = 0
          for (const row of shelf.ofUser(user)) erased += (await shelf.delete(row)) + 1
          return erased
        },
      }),
    )
    addTemplateRoutes(context, studio)
    addVersionRoutes(context, studio)
    addRenderRoute(context, studio)
    addStatusRoute(context, studio)
  },
})
