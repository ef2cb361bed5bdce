using Microsoft.Extensions.Options;

namespace QuickSilver.Hosting;

// The node's own rules, asked before the host starts rather than after.
internal sealed class OptionsCheck : IValidateOptions<QuickSilverOptions>
{
    public ValidateOptionsResult Validate(string? name, QuickSilverOptions options) =>
        OptionRules.Failures(options) is { Count: > 0 } failures ? ValidateOptionsResult.Fail(failures) : ValidateOptionsResult.Success;
}
