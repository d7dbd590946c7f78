import 'reflect-metadata'
import { container, type DependencyContainer } from 'tsyringe'

declare const service: unique symbol

/** A typed name for a service. Symbols survive reloads and second copies of a module; classes do not. */
export type Token<T> = symbol & { readonly [service]?: T }

export const token = <T>(name: string): Token<T> => Symbol.for(`switchyard:${name}`) as Token<T>

/** A root of our own for each boot, so that two gateways in one process share nothing. */
export const createRoot = (): DependencyContainer => container.createChildContainer()

export type { DependencyContainer }
