import { z } from 'zod'
import { defineArea, Templates } from '#kernel'
import { personalOfUsers } from '#kit'
import { addPlaygroundRoute } from './playground/route.ts'
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
    context.own(await shelf.known.load())
    context.provide(Templates, templatesOf(studio))
    context.personal(
      personalOfUsers({ count: (user) => shelf.countOf(user), erase: (user) => shelf.eraseOf(user) }),
    )
    addTemplateRoutes(context, studio)
    addVersionRoutes(context, studio)
    addRenderRoute(context, studio)
    addStatusRoute(context, studio)
    addPlaygroundRoute(context)
  },
})
