namespace QuickSilver.Tool.Scenarios.Catalog;

// All experiments by name. A name on the command line never changes.
internal static class ScenarioCatalog
{
    public static IReadOnlyList<Scenario> All { get; } =
    [
        .. SenderScenarios.All,
        .. FeedbackScenarios.All,
        .. PerturbedScenarios.All,
        .. LightLoadScenarios.All,
        .. TopicScenarios.All,
        .. OverlapScenarios.All,
        .. GroupScenarios.All,
    ];

    public static string Names => string.Join(", ", All.Select(scenario => scenario.Name));

    public static Scenario? Find(string name) => All.FirstOrDefault(scenario => scenario.Name == name);
}
