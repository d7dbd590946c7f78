/** A command's action, whose code is loaded when it is asked for, so that a start does not wait for the others. */
export const later =
  <Args extends unknown[]>(load: () => Promise<(...args: Args) => Promise<void> | void>) =>
  async (...args: Args): Promise<void> =>
    (await load())(...args)
