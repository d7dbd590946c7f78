import type { Completion, ModelRequest } from '../../kit/canonical/forms.ts'
import { HookFault } from '../../kit/work/hook-fault.ts'
import type { Scope } from '../../kit/work/scope.ts'
import type { CallOptions, CompleteOptions, MadeCall, ModelCalls } from '../contract/calls.ts'
import type { Context } from '../contract/context.ts'
import { denied, type Grants } from './permissions.ts'

/** Carries requests of plugins to the outside. The gateway hands it in: the kernel does not know how addresses are checked. */
export interface Network {
  /** Makes the requests of a plugin to these hosts, which are those of its permissions. They end with the scope. */
  open(plugin: string, hosts: readonly string[], scope: Scope): Pick<Context<unknown>, 'fetch' | 'post'>
}

/** The means by which plugins reach the outside. */
export interface Outbound {
  readonly network: Network
  /** Of the configuration, by name. */
  readonly secrets: Readonly<Record<string, string>>
}

/** The part of a context that leads outside, by what the plugin asked for. */
export function outboundOf(
  id: string,
  grants: Grants,
  scope: Scope,
  { network, secrets }: Outbound,
  models: () => ModelCalls | undefined,
) {
  const budgetOf = (): number => {
    if (grants.usdPerDay === undefined) throw denied(id, 'calls a model', 'models:<USD a day>')
    return grants.usdPerDay
  }
  const modelsOf = (): ModelCalls => {
    const made = models()
    if (made) return made
    throw new HookFault(
      `${id} cannot call models: the plugin that makes the calls of plugins is not switched on`,
    )
  }
  return {
    ...network.open(id, grants.hosts, scope),
    secret(name: string): string {
      if (!grants.secrets.has(name)) throw denied(id, `reads the secret ${name}`, `secrets:${name}`)
      const value = secrets[name]
      if (value === undefined)
        throw new HookFault(`${id} needs the secret ${name}: set secrets.${name} in service.yaml`)
      return value
    },
    async complete(request: ModelRequest, options: CompleteOptions = {}): Promise<Completion> {
      return modelsOf().complete(id, budgetOf(), request, options, scope.signal)
    },
    async completeStreamed(request: ModelRequest, options: CompleteOptions = {}) {
      return modelsOf().completeStreamed(id, budgetOf(), request, options, scope.signal)
    },
    call(request: ModelRequest, options: CallOptions): MadeCall {
      if (!grants.has('calls')) throw denied(id, 'makes a call for somebody', 'calls')
      return modelsOf().call(id, request, options, scope.signal)
    },
  }
}
