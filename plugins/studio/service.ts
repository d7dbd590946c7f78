import { notFound, type Templates } from '#kernel'
import { scopeOf } from '#kit'
import type { Studio } from './studio.ts'

/** Templates for the calls of others: what may be used by whom, filled with the values of a call. */
export const templatesOf = (studio: Studio): Templates => ({
  async find(caller, { slug, ...which }) {
    const row = studio.shelf.known.named(slug, scopeOf(caller))
    if (!row || row.status === 'archived')
      throw notFound(`There is no template ${slug} that calls can use.`, { param: 'template' })
    const version = studio.numberOf(row, which, 'template.')
    const prompt = await studio.prompt(row, version)
    const { model, params = {}, tools, response_format } = prompt.body
    return {
      slug,
      version,
      model,
      defaults: { ...params, ...(tools && { tools }), ...(response_format && { response_format }) },
      fill: (values) => prompt.fill(values, 'template.variables'),
    }
  },
})
