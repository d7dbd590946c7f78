import { nearest } from '../../kit/text/nearest.ts'
import type { RouteRule } from '../../plugins/upstream/directory/route-section.ts'
import type { Directory } from '../../plugins/upstream/kit/services.ts'

/** What keeps entries of providers from being used, a line for each that names the entry. */
export function unusableEntries(directory: Pick<Directory, 'find' | 'providers' | 'unusable'>): string[] {
  const { providers, unusable } = directory
  const usable = providers.filter(({ name }) => !unusable.includes(name))
  const known = [...new Set(usable.flatMap(({ name, protocol }) => [name, protocol]))]
  return unusable.map((name) => {
    // An entry whose type nothing knows is taken to speak a protocol of that name.
    const type = directory.find(name)?.protocol
    const [near = 'openai'] = nearest(type ?? name, known)
    return type === undefined
      ? `providers.${name}: unknown provider. Set its type, for example ${near}.`
      : `providers.${name}: there is no provider or protocol ${type}. Set another type, for example ${near}.`
  })
}

/** What keeps routes from being used, a line for each. */
export const unusableRoutes = (
  directory: Pick<Directory, 'find'>,
  rules: readonly Pick<RouteRule, 'match' | 'provider'>[],
): string[] =>
  rules.flatMap(({ match, provider }) =>
    directory.find(provider)
      ? []
      : [`The route for ${match} leads to ${provider}, which is no known provider.`],
  )
