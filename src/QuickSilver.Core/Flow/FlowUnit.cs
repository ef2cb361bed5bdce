namespace QuickSilver.Core.Flow;

// What a policy counts.
internal enum FlowUnit : byte
{
    Bytes,
    Items,
}
