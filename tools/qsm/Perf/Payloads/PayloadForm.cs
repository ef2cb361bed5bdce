namespace QuickSilver.Tool.Perf.Payloads;

internal enum PayloadForm
{
    Bytes,
    Typed,
    TypedText,
}
