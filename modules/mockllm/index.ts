import { z } from 'zod'
import { defineModule } from '#kernel'
import { compileGlobs } from '#kit'
import { answerOf } from './answer.ts'
import { echo, fixtureOf, fixtureSchema } from './fixture.ts'

export default defineModule({
  settings: z.strictObject({
    models: z
      .array(z.string().min(1))
      .default(['mock/*'])
      .meta({ title: 'Models', description: 'Globs of the models that this module answers.' }),
    fixtures: z
      .array(fixtureSchema)
      .default([])
      .meta({ title: 'Fixtures', description: 'Answers; the first that matches is used.' }),
    otherwise: z.enum(['echo', 'provider']).default('echo').meta({
      title: 'Otherwise',
      description: 'If no fixture matches: echo the last message, or let the provider answer.',
    }),
  }),

  setup({ id, settings }) {
    const answers = compileGlobs(settings.models)
    const fixtures = settings.fixtures.map(fixtureOf)
    if (settings.otherwise === 'echo') fixtures.push(echo)

    return {
      async around(call, next) {
        if (call.operation === 'embedding' || !answers(call.request.model)) return next(call)
        for (const fixture of fixtures) {
          const text = fixture.textFor(call)
          if (text === undefined) continue
          call.trace.note(id, 'answered', { match: fixture.match })
          return answerOf(fixture, text, call)
        }
        return next(call)
      },
    }
  },
})
