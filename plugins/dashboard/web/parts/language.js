/**
 * The charts ask for the formats of the browser's language when they load, and fail where it is none: Chromium calls it `en-US@posix` on a
 * system without a locale, as on screens in a hallway. It is English then.
 */
try {
  new Intl.NumberFormat(navigator.language)
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en' })
}
