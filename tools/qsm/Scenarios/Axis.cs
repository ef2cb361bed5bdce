using QuickSilver.Simulation.Experiments;

namespace QuickSilver.Tool.Scenarios;

// What a curve is drawn over: its place in a plan, and the option of the command line that sets it.
internal sealed record Axis(string Label, string Option, Func<LoadPlan, double> Of, Func<LoadPlan, double, LoadPlan> Move)
{
    public static Axis Nodes { get; } = new("nodes", "--nodes", plan => plan.Nodes, (plan, at) => plan with { Nodes = (int)at });

    public static Axis Topics { get; } = new("topics", "--topics", plan => plan.Topics, (plan, at) => plan with { Topics = (int)at });

    public static Axis MessageBytes { get; } =
        new("bytes of a message", "--size", plan => plan.MessageBytes, (plan, at) => plan with { MessageBytes = (int)at });

    public static Axis Rate { get; } = new("messages/s sent", "--rate", plan => plan.Rate ?? 0, (plan, at) => plan with { Rate = at });

    public static Axis Replicas { get; } =
        new("replicas", "--replicas", plan => plan.Replicas ?? 0, (plan, at) => plan with { Replicas = (int)at });

    /// <summary>0: as they go by themselves.</summary>
    public static Axis TokenRate { get; } =
        new("tokens/s", "--token-rate", plan => plan.TokenRate ?? 0, (plan, at) => plan with { TokenRate = at > 0 ? at : null });

    public static Axis FeedbackRanges { get; } =
        new("ranges", "--feedback-ranges", plan => plan.FeedbackRanges, (plan, at) => plan with { FeedbackRanges = (int)at });
}
