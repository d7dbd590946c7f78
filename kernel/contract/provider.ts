/** How a family of providers is spoken to, by its name. `contract/provider.ts` says what else those know who deliver calls. */
export interface Protocol {
  readonly id: string
}

/** The facts of a provider in its manifest: the kernel hands them on. */
export interface ProviderSpec {
  /** The protocol's id. */
  readonly protocol: string
}
