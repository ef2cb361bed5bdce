namespace QuickSilver.Membership.Protocol;

// The messages' field numbers in the envelope. Never given to another message.
internal static class ControlMessageKind
{
    // To the service.
    public const int Join = 1;
    public const int JoinComplete = 2;
    public const int SetTopic = 3;
    public const int CloseTopic = 4;
    public const int Confirm = 5;
    public const int Heartbeat = 6;
    public const int Suspect = 7;
    public const int Leave = 8;
    public const int Resync = 9;
    public const int Findings = 10;
    public const int Watch = 11;
    public const int Snapshot = 12;
    public const int Paused = 13;
    public const int ListTopics = 14;
    public const int FollowTopics = 15;

    // From the service.
    public const int Welcome = 17;
    public const int Refused = 18;
    public const int Configuration = 19;
    public const int TopicOutcome = 20;
    public const int Settled = 21;
    public const int Expelled = 22;
    public const int HeartbeatReply = 23;
    public const int Goodbye = 24;
    public const int Left = 25;
    public const int Inquiry = 26;
    public const int SnapshotQuestion = 27;
    public const int ClusterSnapshot = 28;
    public const int MemberSnapshot = 29;
    public const int TopicList = 30;
    public const int ListedTopic = 31;
    public const int FollowedTopics = 32;
    public const int Waiting = 33;
}
