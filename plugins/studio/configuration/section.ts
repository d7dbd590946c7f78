import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { badRequest, type PortableSection } from '#kernel'
import { changed } from '#kit'
import { slug } from '../input.ts'
import { withLabels } from '../labels.ts'
import type { Part } from '../publishing.ts'
import { type VersionBody, versionBody } from '../rows.ts'
import { most, type Studio } from '../studio.ts'
import { formOf, partOf, type TemplateForm, templateForm, textOf } from './form.ts'
import { rowOf, saidOf, type TemplateSaid } from './said.ts'

export const sectionName = 'templates'

/** Stands for whoever applied a document; the history tells who it was. */
const author = 'configuration'

const named = z.object({ slug })

/**
 * The templates of the admins as a section of the configuration, by their slugs. Versions never change: another content is published
 * as a new version, also by a rollback.
 */
export function templateSection(studio: Studio): PortableSection<TemplateSaid> {
  const { shelf } = studio
  /** What was opened of values; to open one takes time, and a form is wanted at once. */
  const opened = new WeakMap<TemplateSaid, VersionBody>()
  const remembered = (said: TemplateSaid, body: VersionBody | undefined): TemplateSaid => {
    if (body) opened.set(said, body)
    return said
  }
  const shared = (said: TemplateSaid): object => formOf(said, opened.get(said) ?? clear(said.body))

  return {
    name: sectionName,
    most: most.things,
    read(transaction, slug) {
      const now = shelf.newestIn(transaction, { slug })
      return now && saidOf(now.row, now.newest)
    },
    write(transaction, slug, said) {
      const now = shelf.newestIn(transaction, { slug })
      if (said) {
        const { row, version } = rowOf(slug, said, now)
        shelf.storeIn(transaction, row, version)
      } else if (now) shelf.removeIn(transaction, now.row)
    },
    show: ({ body: _, tenant: _tenant, ...said }) => said,
    async *all() {
      for (const row of shelf.known.of(undefined)) {
        const newest = await shelf.version(row.id, row.current_version)
        yield [row.slug, remembered(saidOf(row, newest), newest && (await studio.open(newest)))]
      }
    },
    shared,
    async given(key, form, before) {
      changed({}, { slug: key }, named)
      if (typeof form !== 'object' || form === null) throw badRequest('Expected an object.')
      if (before && isDeepStrictEqual(form, shared(before))) return before
      const input = changed({}, form, templateForm)
      const kind = typeof input.content === 'string' ? ('text' as const) : ('chat' as const)
      if (before && before.type !== kind)
        throw badRequest(`body content: this is a ${before.type} template.`, { param: 'content' })
      const old = before && (opened.get(before) ?? clear(before.body))
      const body = await studio.body({ id: before?.id }, draftOf(input, before), partFor(input))
      const isSame = old !== undefined && isDeepStrictEqual(textOf(old), textOf(body))
      const said = await next(input, kind, before, isSame ? undefined : body)
      if (before && isDeepStrictEqual({ ...said, updated_at: before.updated_at }, before)) return before
      return remembered(said, isSame ? old : body)
    },
  }

  /** A partial of the form, else undefined, which looks it up. */
  function partFor({ partials = {} }: TemplateForm): (slug: string) => Part | undefined {
    return (slug) => (Object.hasOwn(partials, slug) ? partOf(slug, partials[slug]!) : undefined)
  }

  /** What is to be said; without a body the version stays. */
  async function next(
    { name, description, tags, visibility, status, labels }: TemplateForm,
    type: TemplateSaid['type'],
    before: TemplateSaid | undefined,
    body: VersionBody | undefined,
  ): Promise<TemplateSaid> {
    const now = new Date().toISOString()
    if (body && before) shelf.demandNext({ current_version: before.version }, before.version)
    const version = (before?.version ?? 0) + (body ? 1 : 0)
    const older = Object.entries(before?.labels ?? {}).filter(([, of]) => of !== version)
    const newest = body
      ? {
          version,
          body: await studio.seal({ tenant: before?.tenant }, body),
          publisher: author,
          published_at: now,
        }
      : {}
    return {
      ...{ id: '', author, created_at: now, version, body: '', publisher: author, published_at: now },
      ...(before && kept(before)),
      ...newest,
      ...{ visibility, type, tags, status },
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description }),
      labels: withLabels(Object.fromEntries(older), Object.fromEntries(labels.map((one) => [one, version]))),
      updated_at: now,
    }
  }
}

/** What no form says. */
const kept = ({ name: _name, description: _description, ...said }: TemplateSaid) => said

const draftOf = (
  { content, variables, model, params, tools, response_format }: TemplateForm,
  before: TemplateSaid | undefined,
) => ({
  ...{ content, declared: variables, inherits: false, parent_version: before?.version ?? null },
  ...(model !== undefined && { model }),
  ...(params && { params }),
  ...(tools && { tools }),
  ...(response_format && { response_format }),
})

/** What a stored body says that is not sealed. */
function clear(stored: string): VersionBody | undefined {
  if (!stored.startsWith('{')) return undefined
  return versionBody.safeParse(JSON.parse(stored)).data
}
