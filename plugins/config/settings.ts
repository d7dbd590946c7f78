import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import {
  badRequest,
  bindingName,
  type Plugin,
  type Portable,
  type Registry,
  type StoredSetting,
  settingChange,
} from '#kernel'
import { changed } from '#kit'

const fields = ['enabled', 'config', 'when', 'isolation', 'order', 'mode'] as const

/** What was set at runtime of modules, of their bindings by `module/name`, and of all other plugins. */
export function portableSettings(registry: Registry): Readonly<Record<string, Portable<StoredSetting>>> {
  const isModule = ({ manifest }: Plugin): boolean => manifest?.kind === 'module'
  const bindings = () => registry.plugins.flatMap(({ id }) => registry.bindings(id))
  return {
    modules: {
      ...formOfSettings,
      all: () => said(registry.plugins.filter(isModule)),
      given: (id, form, before) => orNothing(settingOf(registry.get(id, 'module'), form, before)),
    },
    bindings: {
      ...formOfSettings,
      all: () => bindings().flatMap(({ id, stored }) => (stored ? [[id, stored] as const] : [])),
      given(id, form, before) {
        const [module = '', name] = id.split('/')
        changed({}, { name }, bindingNamed)
        return settingOf(registry.get(module, 'module'), form, before)
      },
    },
    plugins: {
      ...formOfSettings,
      all: () => said(registry.plugins.filter((plugin) => !isModule(plugin))),
      given(id, form, before) {
        const plugin = registry.get(id)
        if (isModule(plugin)) throw badRequest(`${id} is a module, which belongs to modules.`)
        return orNothing(settingOf(plugin, form, before))
      },
    },
  }
}

const bindingNamed = z.object({ name: bindingName })

const formOfSettings = {
  shared: (row: StoredSetting) =>
    Object.fromEntries(fields.flatMap((field) => (row[field] === undefined ? [] : [[field, row[field]]]))),
}

const isSaid = (row: StoredSetting): boolean => fields.some((field) => row[field] !== undefined)

const said = (plugins: readonly Plugin[]) =>
  plugins.flatMap(({ id, stored }) => (stored && isSaid(stored) ? [[id, stored] as const] : []))

/** A module without settings of its own is as one that was never set; a binding without any is there. */
const orNothing = (row: StoredSetting): StoredSetting | undefined => (isSaid(row) ? row : undefined)

function settingOf(
  { id, manifest, found }: Plugin,
  form: unknown,
  before: StoredSetting | undefined,
): StoredSetting {
  if (!manifest || found.problem) throw badRequest(`${id} cannot run: ${found.problem}`)
  const { data, error } = settingChange.safeParse(form)
  if (error) {
    const [{ path, message } = { path: [], message: '' }] = error.issues
    throw badRequest(`${message}.`, { param: path.join('.') })
  }
  const { config, ...rest } = data
  const given = { ...rest, ...(config && { config }) }
  if (
    before &&
    isDeepStrictEqual(formOfSettings.shared(before), formOfSettings.shared(given as StoredSetting))
  )
    return before
  return {
    ...given,
    ...(config && { version: manifest.version }),
    ...(before?.before && { before: before.before }),
    updated_at: new Date().toISOString(),
  }
}
