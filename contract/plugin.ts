import type { z } from 'zod'
import type { Call } from '../kernel/call/call.ts'
import type { Steps as AnySteps, Rewrites } from '../kernel/chain/hooks.ts'
import type { Context as AnyContext } from '../kernel/contract/context.ts'
import type {
  ModuleDefinition as AnyModule,
  PluginDefinition as AnyPlugin,
  Settings,
} from '../kernel/contract/plugin.ts'
import type { Awaitable } from '../kit/work/continue-with.ts'
import type { Protocol } from './provider.ts'
import type { Candidate } from './routing.ts'

/** The gateway as a plugin sees it, with all that is known of protocols and of the places that calls may go to. */
export interface Context<S> extends AnyContext<S> {
  protocol(protocol: Protocol): void
  targets(call: Call): Promise<readonly Candidate[]>
}

/** The context that `once` gets: without settings, as each configuration of the module has its own. */
export type OnceContext = Omit<Context<undefined>, 'settings' | 'mode'>

/** As the kernel runs them, with all that is known of the places that a call may go to. */
export interface Steps extends AnySteps {
  eligible?(target: Candidate, call: Call): string | undefined
  prefers?(target: Candidate, call: Call): number
}

/** The hooks of a module, or of an area that has a stage. */
export type Hooks = Steps & Rewrites

/** A module of the chain. */
export interface ModuleDefinition<C extends z.ZodType, O> extends AnyModule<C, O> {
  once?(context: OnceContext): Awaitable<O>
  setup(context: Context<Settings<C>>, once: O): Awaitable<Hooks>
}

/** An area or a provider. */
export interface PluginDefinition<C extends z.ZodType> extends AnyPlugin<C> {
  setup(context: Context<Settings<C>>): Awaitable<void> | Awaitable<Hooks>
}

export const defineModule = <C extends z.ZodType, O = undefined>(
  definition: ModuleDefinition<C, O>,
): ModuleDefinition<C, O> => definition
export const defineArea = <C extends z.ZodType>(definition: PluginDefinition<C>): PluginDefinition<C> =>
  definition
export const defineProvider = <C extends z.ZodType>(definition: PluginDefinition<C>): PluginDefinition<C> =>
  definition
