// The smallest files that are what they claim to be, in base64.

/** One red pixel. */
export const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';

/** A WAVE header and no samples. */
export const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

/** A content block of text. */
export const text = (value) => ({ type: 'text', text: value });

/** A tool result of one text. */
export const said = (value) => ({ content: [text(value)] });
