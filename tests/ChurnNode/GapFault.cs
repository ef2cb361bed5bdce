using QuickSilver;

namespace ChurnNode;

internal static class GapFault
{
    /// <summary>
    /// What is wrong with a gap; null if nothing is. What a machine that is too busy does not hand on before an endpoint has left is
    /// reported to the endpoint, and is no fault.
    /// </summary>
    public static string? Of(GapNotice gap, bool isClosed) =>
        isClosed && gap.Reason == GapReason.SubscriberEnded ? null : $"gap {gap.First}-{gap.Last}: {gap.Reason}";
}
