import 'reflect-metadata'
import { container, type DependencyContainer } from 'tsyringe'

/** A root of our own for each boot, so that two gateways in one process share nothing. */
export const createRoot = (): DependencyContainer => container.createChildContainer()

export type { DependencyContainer }
