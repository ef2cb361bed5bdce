using QuickSilver.Membership.Views;

namespace QuickSilver.Groups.Questions;

// The answers from node to node. Core thread only.
internal interface IReplyPost
{
    /// <summary>A number for a question, which no other question of this node has.</summary>
    long NextId();

    /// <summary>From now on answers can come.</summary>
    void Open();

    /// <summary>Sends an answer, and completes the task when it is accepted, or fails it when no more can be sent.</summary>
    void Send(NodeKey to, byte[] letter, TaskCompletionSource sent);
}
