import { z } from 'zod'
import { badRequest, type Call, defineModule, type FoundTemplate, Templates } from '#kernel'
import { openDefaults } from '#kit'
import { type Reference, referenceIn } from './reference.ts'
import { guarded } from './values.ts'

export default defineModule({
  settings: z.strictObject({}),

  setup({ id, use, inspect }) {
    async function filled(call: Call, { choice, variables, isModel }: Reference): Promise<Call> {
      const found = await use(Templates).find(call.principal, choice)
      const { slug, version } = found
      const named = call.withRequest({ template: undefined, model: modelOf(call, found, isModel) })
      const values = await guarded(variables, (texts) => inspect(named, texts))
      const own = call.request.messages ?? []
      const messages = [...found.fill(values), ...own]
      if (isModel) {
        call.trace.decide({ kind: 'template', chosen: named.request.model, reason: `template ${slug}` })
      }
      call.trace.facts.template = { slug, version, client_messages: own.length }
      call.trace.note(id, 'filled', { slug, version })
      return named.withRequest({ ...openDefaults(named.request, found.defaults), messages })
    }

    return {
      request(call) {
        const reference = referenceIn(call)
        return reference && filled(call, reference)
      },
    }
  },
})

/** The client's model, or that of the template that stands in its place. */
function modelOf({ request }: Call, { slug, model }: FoundTemplate, isModel: boolean): string {
  if (!isModel) return request.model
  if (model !== undefined) return model
  throw badRequest(
    `The template ${slug} says no model. Name the template in the field template, and a model.`,
    {
      param: 'model',
    },
  )
}
