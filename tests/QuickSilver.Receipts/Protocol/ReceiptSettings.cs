using QuickSilver.Multicast.Protocols;

namespace QuickSilver.Receipts.Protocol;

// What the first endpoint of a topic asks for on its node.
internal sealed class ReceiptSettings(Action<Receipt>? onReceipt, bool isKept) : ProtocolSettings
{
    public Action<Receipt>? OnReceipt => onReceipt;

    public bool IsKept => isKept;
}
