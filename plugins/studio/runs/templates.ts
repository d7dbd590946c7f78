import { notFound, type Principal } from '#kernel'
import { scopeOf } from '#kit'
import type { Prompt } from '../prompt.ts'
import type { Studio, Which } from '../studio.ts'
import type { Arm, Plan } from './plan.ts'
import type { Prompts } from './request.ts'

/** A version of a template that a plan holds on to, and the model that it asks without another. */
export interface PinnedTemplate {
  readonly template: NonNullable<Arm['template']>
  readonly model: string | undefined
}

/** The version of a template that a caller means now. Throws a not found that names the field below `at`. */
export async function pinTemplate(
  studio: Studio,
  slug: string,
  which: Which,
  caller: Principal,
  at: { readonly slug: string; readonly version: string },
): Promise<PinnedTemplate> {
  const row = studio.shelf.known.named(slug, scopeOf(caller))
  if (!row || row.status === 'archived')
    throw notFound(`There is no template ${slug} that calls can use.`, { param: at.slug })
  const version = studio.numberOf(row, which, at.version)
  const { body } = await studio.prompt(row, version)
  return { template: { id: row.id, slug, version }, model: body.model }
}

/** The prompts of the templates of a plan. Throws a not found where one was deleted. */
export async function promptsOf(studio: Studio, { arms }: Pick<Plan, 'arms'>): Promise<Prompts> {
  const prompts = new Map<Arm, Prompt>()
  for (const arm of arms) {
    if (!arm.template) continue
    const { id, slug, version } = arm.template
    const row = studio.shelf.known.withId(id)
    if (!row) throw notFound(`The template ${slug} is not there any more.`)
    prompts.set(arm, await studio.prompt(row, version))
  }
  return prompts
}
