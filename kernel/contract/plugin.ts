import type { z } from 'zod'
import type { Awaitable } from '../../kit/work/continue-with.ts'
import type { Hooks } from '../chain/hooks.ts'
import type { Context } from './context.ts'

export type Settings<C> = C extends z.ZodType<infer S> ? S : never

/**
 * Migrates settings that another version of the plugin left: those set at runtime, without those of service.yaml. The returned
 * settings are checked against the schema and stored in their place. Runs once for each change of the version; when it throws,
 * the version that runs stays. `from` is `0.0.0` where the version was not kept yet.
 */
type Migrate = (
  settings: Readonly<Record<string, unknown>>,
  from: string,
) => Awaitable<Readonly<Record<string, unknown>>>

/** The context that `once` gets: without settings, as each configuration of the module has its own. */
export type OnceContext = Omit<Context<undefined>, 'settings' | 'mode'>

/** A module of the chain. `settings` must accept `{}`; `setup` may only define and acquire through the context. */
export interface ModuleDefinition<C extends z.ZodType = z.ZodType, O = unknown> {
  readonly settings: C
  readonly migrate?: Migrate
  /**
   * Makes what exists once in each thread, however many bindings the module has: routes, services, and state that its
   * configurations share. It runs before the first of them is set up, is not run again when one is reconfigured, and what it
   * acquires is given back after the last of them has ended. A module in a worker cannot have it.
   */
  once?(context: OnceContext): Awaitable<O>
  setup(context: Context<Settings<C>>, once: O): Awaitable<Hooks>
}

/** An area or a provider: routes, wires, protocols and services; hooks of an area whose manifest has a stage. */
export interface PluginDefinition<C extends z.ZodType = z.ZodType> {
  readonly settings: C
  readonly migrate?: Migrate
  setup(context: Context<Settings<C>>): Awaitable<void> | Awaitable<Hooks>
}

export type Definition = ModuleDefinition | PluginDefinition
