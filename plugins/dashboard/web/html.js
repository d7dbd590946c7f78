import htm from 'htm'
import { h } from 'preact'

/** Templates of the pages: `html\`<p>${text}</p>\``. Whatever is filled in is text, never markup. */
export const html = htm.bind(h)

/** @typedef {import('preact').ComponentChildren} Children */
