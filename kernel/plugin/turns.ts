/** Does one thing after the other, and tells of what was done before the next begins. */
export class Turns<News> {
  readonly #told: (news: News) => Promise<void>
  #last: Promise<unknown> = Promise.resolve()

  constructor(told: (news: News) => Promise<void> = async () => {}) {
    this.#told = told
  }

  /** Resolves when it is done and told; when it rejects, there is nothing to tell. */
  take<T>(work: () => Promise<T>, news?: News): Promise<T> {
    const result = this.#last.then(async () => {
      const done = await work()
      if (news !== undefined) await this.#told(news)
      return done
    })
    this.#last = result.catch(() => {})
    return result
  }

  /** Resolves when all is done that was begun. */
  async end(): Promise<void> {
    await this.#last
  }
}
