import { guardedToken } from '../container.ts'

/** Knows where models are served. */
export interface Routing {
  /** Whether the gateway has a provider of this name. */
  isProvider(name: string): boolean
}

/** The kernel asks it what the names of models mean. Offered with `Delivery`. */
export const Routing = guardedToken<Routing>('routing')
