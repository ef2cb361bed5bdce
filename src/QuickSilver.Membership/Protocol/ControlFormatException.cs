namespace QuickSilver.Membership.Protocol;

// A control message that is valid protobuf and breaks a rule of the protocol.
internal sealed class ControlFormatException(string message) : QuickSilverException(message);
