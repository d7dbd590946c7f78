import { z } from 'zod'
import { type Call, defineModule } from '#kernel'
import { Configurations, contentFields, isGlob, openDefaults } from '#kit'
import { ModelAliases, type ModelNames } from '#provider'
import { type Alias, compileAliases, findLoop } from './aliases.ts'

const modelName = z
  .string()
  .min(1)
  .max(256)
  .refine((name) => !isGlob(name), 'an alias leads to one model, not to a glob')

const defaults = z
  .record(z.string(), z.json())
  .refine(
    (fields) => contentFields.every((name) => !(name in fields)),
    `may hold anything but ${contentFields.join(', ')}`,
  )

const target = z.strictObject({
  model: modelName.meta({
    title: 'Model',
    description: 'A model, provider/model, or the name of another alias.',
  }),
  defaults: defaults.default({}).meta({
    title: 'Default parameters',
    description: 'Parameters such as temperature, for requests that do not set them.',
  }),
})

const aliases = z
  .record(
    z.string().min(1).max(256),
    z.union([modelName.transform((model): Alias => ({ model, defaults: {} })), target]),
  )
  .superRefine((value, context) => {
    const loop = findLoop(value)
    if (loop)
      context.addIssue({ code: 'custom', message: `aliases lead round in a loop: ${loop.join(' → ')}` })
  })

export default defineModule({
  settings: z.strictObject({
    aliases: aliases.default({}).meta({
      title: 'Aliases',
      description: 'Names or globs, each with its model, or with its model and default parameters.',
    }),
  }),

  once({ provide }) {
    const tables = new Configurations<ModelNames>()
    provide(ModelAliases, {
      names: () => [...new Set(tables.values.flatMap((table) => table.names()))],
      modelOf: (name) => tables.values.find((table) => table.modelOf(name) !== undefined)?.modelOf(name),
    })
    return tables
  },

  setup({ id, settings, mode, own }, tables) {
    const names = Object.keys(settings.aliases)
    if (names.length === 0) return {}
    const find = compileAliases(settings.aliases)
    const exact = names.filter((name) => !isGlob(name))
    if (mode === 'enforce') own(tables.add(id, { names: () => exact, modelOf: (name) => find(name)?.model }))
    return {
      pure: true,
      leadsTo: () => names.map((from) => ({ from, model: find(from)!.model })),
      request(call) {
        const alias = find(call.request.model)
        return alias && renamed(call, alias)
      },
    }
  },
})

function renamed(call: Call, { model, defaults }: Alias): Call {
  const { request, trace } = call
  if (model !== request.model) {
    trace.decide({ kind: 'alias', chosen: model, reason: `${request.model} is an alias` })
  }
  return call.withRequest({ ...openDefaults(request, defaults), model })
}
