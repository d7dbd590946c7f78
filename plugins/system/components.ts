import { type Context, kernelServices, type Provider } from '#kernel'
import { ProviderDirectory, ProviderProber } from '#provider'

export interface Component {
  readonly status: 'healthy' | 'degraded' | 'down'
  readonly detail: string
}

/** How the parts of the gateway are. Names no more than any key may know. */
export async function componentsOf(
  { use }: Context<unknown>,
  storeAnswers: () => Promise<boolean>,
): Promise<Record<'store' | 'plugins' | 'providers', Component>> {
  return { store: storeOf(use, await storeAnswers()), plugins: pluginsOf(use), providers: providersOf(use) }
}

/** The worst of them; without the store nothing works. */
export function worst({ store, ...rest }: Readonly<Record<string, Component>>): Component['status'] {
  if (store?.status === 'down') return 'down'
  const all = [store, ...Object.values(rest)]
  return all.every((component) => component?.status === 'healthy') ? 'healthy' : 'degraded'
}

function storeOf(use: Context<unknown>['use'], answers: boolean): Component {
  const { problem } = use(kernelServices.storeState)
  if (!answers) return { status: 'down', detail: problem ?? 'It does not answer.' }
  return problem === undefined
    ? { status: 'healthy', detail: 'It answers.' }
    : { status: 'degraded', detail: problem }
}

function pluginsOf(use: Context<unknown>['use']): Component {
  const registry = use(kernelServices.registry)
  const states = registry.plugins.map((plugin) => ({ id: plugin.id, state: registry.stateOf(plugin) }))
  const active = states.filter(({ state }) => state === 'active').length
  const broken = states.filter(({ state }) => state !== 'active' && state !== 'disabled')
  const running = `${active} of ${states.length} run`
  if (broken.length === 0) return { status: 'healthy', detail: `${running}.` }
  const which = broken.map(({ id, state }) => `${id} (${state})`).join(', ')
  return { status: 'degraded', detail: `${running}. Not running: ${which}.` }
}

/** By the last check of each, where there was one; a check is a real request and is not made for this. */
function providersOf(use: Context<unknown>['use']): Component {
  const configured = use(ProviderDirectory).providers.filter((provider) => provider.configured)
  const prober = use(ProviderProber)
  const real = configured.filter(({ spec }) => !spec.fallback)
  if (real.length === 0) {
    const stand = configured.map(({ name }) => name).join(', ')
    return stand === ''
      ? { status: 'down', detail: 'No provider has a key.' }
      : { status: 'healthy', detail: `No provider has a key; ${stand} answers.` }
  }
  const isDown = ({ name, unreadable }: Provider): boolean =>
    unreadable !== undefined || prober.last(name)?.status === 'down'
  const down = real.filter(isDown).map(({ name }) => name)
  const detail = `${real.length} configured.${down.length > 0 ? ` Down at the last check: ${down.join(', ')}.` : ''}`
  if (down.length === 0) return { status: 'healthy', detail }
  return { status: down.length === real.length ? 'down' : 'degraded', detail }
}
