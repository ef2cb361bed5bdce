using QuickSilver.Core.Environment;

namespace QuickSilver.Multicast.Sending.Acknowledgement;

// The node whose confirmation it is.
internal interface IConfirmingNode
{
    INodeEnvironment Environment { get; }

    /// <summary>Reports to the membership service how far all that was sent is settled, where that is news.</summary>
    void ConfirmIfSettled();
}
