const ofRequest: ReadonlySet<number | undefined> = new Set([400, 413, 422])

/** Whether a provider's status says that the request is wrong, and so nothing of the provider and its model. */
export const isOfRequest = (providerStatus: number | undefined): boolean => ofRequest.has(providerStatus)
