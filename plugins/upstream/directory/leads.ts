import { isDeepStrictEqual } from 'node:util'
import type { Forms, Generation, Registry } from '#kernel'
import { readable } from '#kit'
import type { Directory } from '../directory.ts'

/** A name in the settings of a module, or of a binding, that sends calls on to a model of a provider. */
export interface Lead {
  readonly module: string
  readonly from: string
  readonly provider: string
}

/** What the modules that are on lead to, as far as the models are at one provider only. */
export const leadsOf = (
  { entries }: Pick<Generation, 'entries'>,
  directory: Pick<Directory, 'find' | 'resolve'>,
): Lead[] =>
  entries.flatMap(({ id: module, hooks }) =>
    (hooks.leadsTo?.() ?? []).flatMap(({ from, model }) => {
      const provider = onlyProviderOf(model, directory)
      return provider === undefined ? [] : [{ module, from, provider }]
    }),
  )

/** The provider that a model names outright, or the only one with a key that serves it. */
function onlyProviderOf(model: string, directory: Pick<Directory, 'find' | 'resolve'>): string | undefined {
  const [first = '', ...rest] = model.split('/')
  if (rest.length > 0 && directory.find(first)) return first
  const providers = (readable(() => directory.resolve(model, undefined)) ?? []).map((route) => route.provider)
  const ready = providers.filter(({ configured }) => configured)
  const [one, ...others] = ready.length > 0 ? ready : providers
  return others.length > 0 ? undefined : one?.name
}

/** Whether a module is to have the settings then that it has now, so that it leads to what it does now. */
export function keepsSettings(
  id: string,
  { modules, bindings, plugins }: Forms,
  registry: Pick<Registry, 'find'>,
): boolean {
  const stored = registry.find(id)?.stored
  const forms = [modules, bindings, plugins].flatMap((all) =>
    all && Object.hasOwn(all, id) ? [all[id]] : [],
  )
  const form = (forms[0] ?? {}) as Partial<NonNullable<typeof stored>>
  return (['enabled', 'mode', 'config'] as const).every((field) =>
    isDeepStrictEqual(form[field], stored?.[field]),
  )
}
